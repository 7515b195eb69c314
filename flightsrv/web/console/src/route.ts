// Addresses of pages: the fragment, such as #/table/roads.geojson/map.

/** The parts of a table's page. */
export const parts = ['overview', 'map', 'use'] as const
export type Part = (typeof parts)[number]

export type Route =
  | { page: 'tables' | 'sql' | 'server' | 'login'; query: URLSearchParams }
  | { page: 'table'; name: string; part: Part; query: URLSearchParams }

/** Reads a fragment. An unknown one is that of the list of tables. */
export function parse(hash: string): Route {
  const [path, q] = hash.replace(/^#\/?/, '').split('?', 2)
  const query = new URLSearchParams(q)
  const [page, name, part] = path.split('/')
  if (page === 'table' && name) {
    return { page, name: decode(name), part: parts.find((p) => p === part) ?? 'overview', query }
  }
  if (page === 'sql' || page === 'server' || page === 'login') return { page, query }
  return { page: 'tables', query }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The fragment of a table's page. */
export function tableHref(name: string, part: Part = 'overview'): string {
  return `#/table/${encodeURIComponent(name)}` + (part === 'overview' ? '' : `/${part}`)
}

export function go(hash: string) {
  location.hash = hash
}
