declare const __TRIANGULATOR__: string
declare const __TILE_WORKER__: string

declare module '*.arrows' {
  const path: string
  export default path
}
