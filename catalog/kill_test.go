package catalog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
)

// childVar has the folder of a world in the process that TestKilledServer starts.
const childVar = "VIBEFLIGHT_CATALOG_TEST_CHILD"

// TestMain runs the test binary as a server if childVar is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		fmt.Println(serve(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// killedConfig has space for a few tables only, so the server constantly parses, writes and evicts.
func killedConfig(dir string) Config {
	return Config{
		Roots: []Root{{Dir: filepath.Join(dir, "data")}}, Formats: readers.Registry{new(rowsFormat).format()},
		Log:      zerolog.Nop(),
		CacheDir: filepath.Join(dir, "cache"), MemoryBytes: 20_000, CacheBytes: 300_000,
		Limits: readers.Limits{BatchRows: 50, Workers: 2},
	}
}

// serve requests tables until it is killed, and prints a line for each.
func serve(dir string) error {
	c, err := Open(context.Background(), killedConfig(dir))
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name, shift := fmt.Sprintf("%d.rows", rand.IntN(4)), strconv.Itoa(rand.IntN(6))
		text, err := os.ReadFile(filepath.Join(dir, "data", name))
		if err != nil {
			return err
		}
		_, err = ask(context.Background(), c, Request{Name: name, Options: shiftBy(shift)}, string(text))
		var limit *readers.LimitError
		if errors.As(err, &limit) { // tables that wait to be saved fill the cache
			c.awaitSaves()
		} else if err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func TestKilledServer(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
	texts := map[string]string{}
	for i := range 4 {
		name := fmt.Sprintf("%d.rows", i)
		texts[name] = textOf(1+i, []int{100, 300, 600, 1200}[i])
		must(t, os.WriteFile(filepath.Join(dir, "data", name), []byte(texts[name]), 0o600))
	}
	left, loads := 0, int64(0)
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childVar+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		output := bufio.NewScanner(out)
		for range 1 + rand.IntN(20) {
			if !output.Scan() || strings.Trim(output.Text(), "0123456789") != "" {
				t.Fatalf("the server ended by itself: %s", output.Text())
			}
		}
		for range rand.IntN(1 << 18) { // kills it at a random point between two lines
			_ = rand.Uint64()
		}
		must(t, cmd.Process.Kill())
		for output.Scan() { // reads to the end of its output
		}
		if cmd.Wait() == nil {
			t.Fatal("the server ended by itself")
		}
		temps, err := filepath.Glob(filepath.Join(dir, "cache/tables/.tmp-*"))
		must(t, err)
		left += len(temps)
		n, err := survivors(t, dir, texts)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		loads += n
	}
	t.Logf("%d rounds: %d files of dead writers were removed, %d tables of dead servers were used", rounds, left, loads)
	if loads == 0 {
		t.Error("no table outlived its server")
	}
}

// survivors opens a catalog in the folder of a killed server and checks that everything in it is
// right. Each table in the cache is used and none is parsed again. Tables that the catalog saves
// afterwards are right as well. survivors returns how many tables were used.
func survivors(t *testing.T, dir string, texts map[string]string) (loads int64, err error) {
	c, err := Open(t.Context(), killedConfig(dir))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	temps, err := filepath.Glob(filepath.Join(dir, "cache/tables/.tmp-*"))
	if err != nil || len(temps) > 0 {
		return 0, errors.Join(fmt.Errorf("temporary files %q are left", temps), err)
	}
	left, err := complete(t.Context(), c)
	if err != nil {
		return 0, err
	}
	for _, req := range left {
		if _, err := ask(t.Context(), c, req, texts[req.Name]); err != nil {
			return 0, err
		}
	}
	s := c.Stats()
	if s.Cache == nil || s.Cache.Loads != int64(len(left)) || s.Parses > 0 {
		return 0, fmt.Errorf("stats %+v, of the cache %+v: %d tables lay there", s, s.Cache, len(left))
	}
	for name, text := range texts {
		for shift := range 2 {
			if _, err := ask(t.Context(), c, Request{Name: name, Options: shiftBy(strconv.Itoa(shift))},
				text); err != nil {
				return 0, err
			}
			c.awaitSaves()
		}
	}
	if s := c.Stats().Cache; s.Damaged > 0 {
		return 0, fmt.Errorf("stats of the cache %+v: tables were damaged", s)
	}
	return int64(len(left)), nil
}

// complete requests each table that is in the cache and has a record in the store. A server may be
// killed between writing the two. Records of failed parses have no content.
func complete(ctx context.Context, c *Catalog) (asks []Request, err error) {
	lies := map[cachedir.Key]bool{}
	for _, info := range c.archive.Dir().List() {
		lies[info.Key] = true
	}
	err = c.archive.Store().All(ctx, func(r store.Record) error {
		format, ok := c.cfg.Formats.ByName(r.Format)
		if !ok || r.Content == nil || !lies[c.archive.RecordKey(format, r.Name, r)] {
			return nil
		}
		options := map[string]any{}
		asks = append(asks, Request{Name: filepath.Base(r.Name), Options: options})
		return json.Unmarshal([]byte(r.OptionsJSON), &options)
	})
	return asks, err
}
