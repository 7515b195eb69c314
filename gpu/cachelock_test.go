package gpu

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/internal/system/systemtest"
)

const sharedPrograms = 6

// makeAll asks for all programs and notes each compilation in a file, once stdin ends.
func makeAll(dir string) error {
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	compiler := &counter{version: "counter 1", during: func(src Source) error {
		_, err := fmt.Fprintln(calls, src.Name)
		return err
	}}
	d := New(&loader{arch: "sm_90"}, compiler, Options{CacheDir: filepath.Join(dir, "cache")})
	for i := range sharedPrograms {
		p, err := d.Program(text(i))
		if err == nil {
			err = p.Info().Warning
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(d.Close(), calls.Close())
}

func TestProcessesCompileOnce(t *testing.T) {
	dir := t.TempDir()
	var processes []*exec.Cmd
	var gates []io.Closer
	for range 6 {
		cmd := child(t, "make-all", dir)
		gate, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		processes, gates = append(processes, cmd), append(gates, gate)
	}
	for _, gate := range gates {
		must(t, gate.Close())
	}
	for _, cmd := range processes {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process: %v", err)
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	must(t, err)
	for i := range sharedPrograms {
		if n := strings.Count(string(calls), text(i).Name); n != 1 {
			t.Errorf("%s was compiled %d times", text(i).Name, n)
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, "cache")); err != nil || len(files) != sharedPrograms {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// getStuck says that it compiles, and does so as long as stdin is open.
func getStuck(dir string) error {
	compiler := &counter{version: "counter 1", during: func(Source) error {
		fmt.Println("compiling")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}}
	_, err := New(&loader{arch: "sm_90"}, compiler, Options{CacheDir: dir}).Program(text(1))
	return err
}

// stuck starts a process that holds the lock of text(1).
func stuck(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := child(t, "get-stuck", dir)
	_, err := cmd.StdinPipe() // closed by Wait
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "compiling\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Kill())
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Errorf("a killed process: %v", err)
	}
}

func TestKilledProcessLeavesNoHarm(t *testing.T) {
	l := newLab(t)
	kill(t, stuck(t, l.dir))
	l.wantFrom(text(1), FromCompiler)
	l.wantFrom(text(1), FromCache)
	if l.compiler.calls != 1 {
		t.Errorf("%d compilations", l.compiler.calls)
	}
}

// What a killed process left is removed when another image is written, but not what a living one
// holds.
func TestAbandonedPartialFiles(t *testing.T) {
	l := newLab(t)
	left := filepath.Join(l.dir, strings.Repeat("0f", 32)+partialSuffix)
	must(t, os.WriteFile(left, []byte("half of an image"), 0o600))
	living := stuck(t, l.dir)
	held := strings.TrimSuffix(l.path(text(1)), imageSuffix) + partialSuffix
	l.wantFrom(text(2), FromCompiler)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left: %v", err)
	}
	if _, err := os.Stat(held); err != nil {
		t.Errorf("what a living process holds: %v", err)
	}
	kill(t, living)
}

func TestStuckProcessHoldsNobodyUp(t *testing.T) {
	l := newLab(t)
	living := stuck(t, l.dir)
	d := l.open()
	d.programs.cache.patience = 5 * time.Millisecond
	p, err := d.Program(text(1))
	must(t, err)
	if info := p.Info(); info.Origin != FromCompiler || info.Warning == nil ||
		!strings.Contains(info.Warning.Error(), "another process has held") {
		t.Errorf("%+v, want it compiled, and a warning", info)
	}
	kill(t, living)
}

// A failed compilation leaves nothing behind, and a caller that waits for it tries itself.
func TestFailedCompilationLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.compiler.during = func(Source) error { return errors.New("broken") }
	if _, err := l.open().Program(text(1)); err == nil {
		t.Error("no error")
	}
	if files, err := os.ReadDir(l.dir); err != nil || len(files) != 0 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// fillDisk compiles where no file may grow beyond some bytes, which is how a full disk looks.
func fillDisk(dir string) error {
	if err := systemtest.LimitFileSize(uint32(cacheHeader) + 3); err != nil {
		return err
	}
	compiler := &counter{version: "counter 1"}
	d := New(&loader{arch: "sm_90"}, compiler, Options{CacheDir: dir})
	p, err := d.Program(text(1))
	if err != nil {
		return err
	}
	if info := p.Info(); info.Origin != FromCompiler || !errors.Is(info.Warning, syscall.EFBIG) {
		return fmt.Errorf("%+v, want it compiled, and a warning", info)
	}
	files, err := os.ReadDir(dir)
	if err == nil && len(files) > 0 {
		err = fmt.Errorf("the folder has %v", files)
	}
	return errors.Join(err, d.Close())
}

func TestFullDisk(t *testing.T) {
	l := newLab(t)
	l.wantFrom(text(2), FromCompiler)
	must(t, os.Remove(l.path(text(2))))
	must(t, child(t, "disk-full", l.dir).Run())
	l.wantFrom(text(1), FromCompiler)
}
