-- Asks the daemon at $SOCKET with Neovim's own JSON-RPC code and prints what it got
-- as JSON. Versions before 0.8 have no socket of their own: socat carries the bytes.
local socket, new = os.getenv("SOCKET"), os.getenv("NEW")
local changed
local dispatchers = {
  notification = function(method, params)
    if method == "changed" then changed = params end
  end,
  server_request = function() end,
  on_exit = function() end,
  on_error = function(code, err) print("error", code, vim.inspect(err)) end,
}
local client
if vim.lsp.rpc.connect then
  local start = vim.lsp.rpc.connect(socket)
  client = start(dispatchers)
else
  client = vim.lsp.rpc.start("socat", { "-", "UNIX-CONNECT:" .. socket }, dispatchers)
end

local function ask(method, params)
  local answer
  client.request(method, params, function(err, result) answer = { err = err, result = result } end)
  assert(vim.wait(60000, function() return answer ~= nil end, 10), method .. " is not answered")
  return answer
end

local found = ask("search", { query = "billing refunds", sync = true, sync_timeout_ms = 60000 })
local bad = ask("search", { query = "x", limit = 1 })
ask("subscribe", { progress = false })
vim.fn.writefile({ "A new text about billing." }, new)
assert(vim.wait(60000, function() return changed ~= nil end, 10), "nothing is told")
io.stdout:write(vim.fn.json_encode({ total = found.result.total, code = bad.err.code, added = changed.added }) .. "\n")
vim.cmd("qa!")
