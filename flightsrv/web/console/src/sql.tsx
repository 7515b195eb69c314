export function SQLPage({ first }: { first: string }) {
  return <section class="page"><h1>SQL</h1><pre>{first}</pre></section>
}
