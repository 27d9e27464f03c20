package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
)

// helperDial prints the first line that the socket sends by itself.
func helperDial(path string) {
	c, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("dial:", err)
		os.Exit(1)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	fmt.Print(line)
	os.Exit(0)
}

// helperHold listens, says so, and waits to be killed.
func helperHold(path string) {
	if _, err := Listen(path); err != nil {
		fmt.Println("listen:", err)
		os.Exit(1)
	}
	fmt.Println("listening")
	select {}
}

// helperActivated serves the passed socket until standard input ends.
func helperActivated() {
	if err := os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid())); err != nil {
		panic(err)
	}
	l, ok, err := Activated()
	if err != nil || !ok {
		fmt.Println("activated:", ok, err)
		os.Exit(1)
	}
	_, again, _ := Activated()
	fmt.Println("again:", again)
	s := New(Options{})
	Handle(s, "echo", func(_ context.Context, p echoParams) (echoResult, error) { return echoResult{Text: p.Text}, nil })
	go func() { _ = s.Serve(l) }()
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = s.Shutdown(context.Background())
	os.Exit(0)
}
