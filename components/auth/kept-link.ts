/**
 * The token of a mail's link stands after the #. Whoever signs in at a provider in between finds it again when they are back: it stays in
 * this tab of their browser, and no server sees it.
 */
const keyOfPage = () => `sluice.link ${window.location.pathname}`

export function keepLink(): void {
  if (window.location.hash.length > 1) sessionStorage.setItem(keyOfPage(), window.location.hash)
}

/** Back into the address, where every script looks for it. */
export function restoreLink(): void {
  const kept = sessionStorage.getItem(keyOfPage())
  if (!kept || window.location.hash.length > 1) return
  sessionStorage.removeItem(keyOfPage())
  window.location.hash = kept
}
