// Asks the daemon at the socket named, with the library that VS Code's own
// language clients use, and prints what it got as JSON.
const net = require("net");
const rpc = require("vscode-jsonrpc/node");

const socket = net.connect(process.argv[2]);
const conn = rpc.createMessageConnection(
  new rpc.StreamMessageReader(socket),
  new rpc.StreamMessageWriter(socket),
);
const changed = new Promise((resolve) => conn.onNotification("changed", resolve));
conn.listen();

async function main() {
  const found = await conn.sendRequest("search", { query: "billing refunds", sync: true, sync_timeout_ms: 60000 });
  let code = 0;
  await conn.sendRequest("search", { query: "x", limit: 1 }).catch((e) => { code = e.code; });
  const source = new rpc.CancellationTokenSource();
  const slow = conn.sendRequest("sync", { timeout_ms: 60000 }, source.token).then(() => "answered", (e) => e.code);
  source.cancel();
  const cancelled = await slow;
  await conn.sendRequest("subscribe", { progress: false });
  require("fs").writeFileSync(process.argv[3], "A new text about billing.\n");
  const notice = await changed;
  console.log(JSON.stringify({ total: found.total, code, cancelled, added: notice.added }));
  conn.dispose();
  socket.destroy();
}

main().catch((e) => { console.error(e); process.exit(1); });
