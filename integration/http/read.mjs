// Reads an Arrow stream from a URL with the fetch of Node, which undoes gzip, and prints its rows as JSON.
import { tableFromIPC } from "apache-arrow";

const [url, encoding] = process.argv.slice(2);
const answer = await fetch(url, { headers: { "Accept-Encoding": encoding } });
if (!answer.ok) {
  throw new Error(`${answer.status} ${await answer.text()}`);
}
const table = await tableFromIPC(answer);
const rows = table.toArray().map((row) => row.toJSON());
console.log(JSON.stringify(
  { coding: answer.headers.get("content-encoding"), rows },
  (_, v) => (typeof v === "bigint" ? Number(v) : v),
));
