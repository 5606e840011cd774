/** Whether a visit to Try it left an upload that goes on after a reload, so that its uploader is loaded at once. */
const nameOf = (pipeId: string) => `sluice:unfinished:${pipeId}`

export function isUnfinished(pipeId: string): boolean {
  return localStorage.getItem(nameOf(pipeId)) !== null
}

export function noteUnfinished(pipeId: string, unfinished: boolean): void {
  if (unfinished) localStorage.setItem(nameOf(pipeId), '')
  else localStorage.removeItem(nameOf(pipeId))
}
