package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// supplies makes a directory of power supplies: name → attribute → value.
func supplies(t *testing.T, dir string, all map[string]map[string]string) {
	t.Helper()
	for name, facts := range all {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for fact, value := range facts {
			if err := os.WriteFile(filepath.Join(dir, name, fact), []byte(value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestOnBattery(t *testing.T) {
	mains := func(online string) map[string]string { return map[string]string{"type": "Mains", "online": online} }
	battery := func(status string) map[string]string { return map[string]string{"type": "Battery", "status": status} }
	mouse := map[string]string{"type": "Battery", "scope": "Device", "status": "Discharging"}
	for name, test := range map[string]struct {
		all  map[string]map[string]string
		want bool
	}{
		"nothing":              {nil, false},
		"unplugged":            {map[string]map[string]string{"AC": mains("0"), "BAT0": battery("Discharging")}, true},
		"plugged":              {map[string]map[string]string{"AC": mains("1"), "BAT0": battery("Charging")}, false},
		"weak charger":         {map[string]map[string]string{"AC": mains("1"), "BAT0": battery("Discharging")}, false},
		"one of two":           {map[string]map[string]string{"BAT0": battery("Full"), "BAT1": battery("Discharging")}, true},
		"a desktop's mouse":    {map[string]map[string]string{"hid": mouse}, false},
		"nothing can be read":  {map[string]map[string]string{"BAT0": nil}, false},
		"charged by USB cable": {map[string]map[string]string{"U": {"type": "USB", "online": "1"}, "BAT0": battery("Discharging")}, false},
	} {
		dir := t.TempDir()
		supplies(t, dir, test.all)
		if got := onBattery(dir); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if onBattery(filepath.Join(t.TempDir(), "none")) {
		t.Error("without power supplies it is on battery")
	}
}

// On battery many changes are slowed down to half speed, or all wait for the mains.
func TestMannersOnBattery(t *testing.T) {
	dir := t.TempDir()
	state := func(status string) {
		supplies(t, dir, map[string]map[string]string{"BAT0": {"type": "Battery", "status": status}})
	}
	state("Discharging")
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		m := newManners(dir, "", "slow")
		rested := func(changes int) time.Duration {
			began := time.Now()
			m.rest(ctx, changes, 3*time.Second)
			return time.Since(began)
		}
		if got := rested(bulkChanges); got != 3*time.Second {
			t.Errorf("many changes: rested %v", got)
		}
		if got := rested(bulkChanges - 1); got != 0 {
			t.Errorf("few changes: rested %v", got)
		}
		if reason, _, _ := m.paused(); reason != "" {
			t.Errorf("slow is paused: %s", reason)
		}
		m.setMode("full")
		if got := rested(bulkChanges); got != 0 {
			t.Errorf("full: rested %v", got)
		}
		m.setMode("pause")
		if reason, _, _ := m.paused(); reason != pausedByBattery {
			t.Errorf("paused: %q", reason)
		}
		went := make(chan bool)
		go func() { went <- m.await(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case <-went:
			t.Error("it went on, on battery")
		default:
		}
		state("Charging")
		began := time.Now()
		if !<-went || time.Since(began) > 2*powerCheck {
			t.Errorf("it went on %v after the mains were back", time.Since(began))
		}
	})
}

// A pause with an end ends by itself, and one without by resuming; both are kept
// for the next daemon.
func TestMannersPause(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data", "paused")
	synctest.Test(t, func(t *testing.T) {
		m := newManners("", file, "slow")
		began := time.Now()
		if err := m.setPause(pause{on: true, until: began.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if next := newManners("", file, "slow"); !next.await(context.Background()) || time.Since(began) != time.Hour {
			t.Errorf("the next daemon went on after %v", time.Since(began))
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("a pause that is over is kept: %v", err)
		}
		if err := m.setPause(pause{on: true}); err != nil {
			t.Fatal(err)
		}
		next := newManners("", file, "slow")
		ctx, cancel := context.WithTimeout(context.Background(), 1000*time.Hour)
		defer cancel()
		if next.await(ctx) {
			t.Error("a pause without an end ended")
		}
		time.AfterFunc(time.Minute, func() { _ = next.setPause(pause{}) })
		if !next.await(context.Background()) {
			t.Error("resuming does not end it")
		}
	})
}
