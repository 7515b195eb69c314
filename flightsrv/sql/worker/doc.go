// Package worker runs DuckDB in processes of their own.
//
// A [Pool] starts workers: processes of the server's own binary that call [Serve]. DuckDB is loaded
// only there. A statement that crashes DuckDB, ignores its deadline or takes too much memory ends
// one worker, and no other statement.
//
// The server and a worker exchange messages over a Unix socket of type SOCK_SEQPACKET. A message
// has a head in JSON and a body of Arrow buffers. Payloads above 64 KiB are sent as the descriptor
// of a memory file. Buffers in a mapped file of the cache are sent as the descriptor of that file,
// an offset and a length, and are not copied.
//
// One statement at a time uses a [Database]: [Pool.Take] starts the exclusive use of a worker, and
// [Database.Rest] ends it. Connections with prepared statements stay in the worker, and
// [Database.Resume] starts the use again if the worker is free. [Embedded] is DuckDB in this
// process, with the same interface.
package worker
