export function ServerPage() {
  return <section class="page"><h1>Server</h1></section>
}
