// Command quern is an always-on local knowledge base: it watches folders, keeps
// an exact index of their passages and answers queries over a Unix socket.
package main

func main() {}
