// Strings that would set window.__xss if a page read them as HTML, as a program or as an address.

const programs = [
  '<img src=x onerror="window.__xss=N">', '<script>window.__xss=N</script>', '<svg/onload=window.__xss=N>',
  '"><img src=x onerror=window.__xss=N>', "'><script>window.__xss=N</script>", 'javascript:window.__xss=N',
  '<iframe srcdoc="<script>parent.__xss=N</script>"></iframe>', '</td></table><script>window.__xss=N</script>',
  '<a href="javascript:window.__xss=N">click</a>', '<details open ontoggle=window.__xss=N>', '<body onload=window.__xss=N>',
  '<math><mtext><style><img src=x onerror=window.__xss=N></style></mtext></math>', '&lt;script&gt;window.__xss=N&lt;/script&gt;',
  "{{constructor.constructor('window.__xss=N')()}}", '${window.__xss=N}', '<!--><img src=x onerror=window.__xss=N>-->',
  '<input autofocus onfocus=window.__xss=N>', '<video><source onerror="window.__xss=N"></video>', "';window.__xss=N;//",
  '<style>@import"/console/N.css";</style>', '<base href="http://192.0.2.1/N">', '<link rel=stylesheet href="http://192.0.2.1/N">',
  '<object data="javascript:window.__xss=N"></object>', '\u202e<img src=x onerror=window.__xss=N>', '<template><script>window.__xss=N</script></template>',
]

/** The hostile strings, all different. */
export function hostile(n) {
  return Array.from({ length: n }, (_, i) => programs[i % programs.length].replaceAll('N', String(i + 1)))
}

// As a program: prints n of them as JSON, for the files that the tests serve.
if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(hostile(Number(process.argv[2]))))
