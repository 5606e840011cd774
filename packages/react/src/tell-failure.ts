/** What Sluice itself said of it, in words; else what the client noticed. */
export function tellFailure(noticed: string, answer: string | undefined): string {
  try {
    const { detail } = JSON.parse(answer ?? '') as { detail?: unknown }
    if (typeof detail === 'string' && detail) return detail
  } catch {
    // Not every answer is one of ours.
  }
  return noticed
}
