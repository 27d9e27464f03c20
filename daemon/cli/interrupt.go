package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupter decides what a signal does: the first interrupt may end only a
// wait, any other signal ends the run.
type interrupter struct {
	hard context.CancelFunc

	mu   sync.Mutex // guards soft
	soft context.CancelFunc
}

// softly returns a context that the next interrupt cancels instead of ending
// the run. The returned function gives the interrupt its usual meaning back.
func (i *interrupter) softly(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	i.set(cancel)
	return ctx, func() {
		i.set(nil)
		cancel()
	}
}

func (i *interrupter) set(soft context.CancelFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.soft = soft
}

// interrupt acts on a signal and tells whether the run is to end.
func (i *interrupter) interrupt(gentle bool) (ending bool) {
	i.mu.Lock()
	soft := i.soft
	i.soft = nil
	i.mu.Unlock()
	if gentle && soft != nil {
		soft()
		return false
	}
	i.hard()
	return true
}

// watchSignals starts the goroutine that receives signals; the returned
// function ends it and waits for it. After the signal that ends the run the
// next one has its default action: it kills a program that hangs.
func (i *interrupter) watchSignals() (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-signals:
				if i.interrupt(s == os.Interrupt) {
					signal.Stop(signals)
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
		<-done
	}
}
