/** The counts, violations and outages of a run. */
export type Log = ReturnType<typeof createLog>

export function createLog(say: (line: string) => void) {
  const counts: Record<string, number> = {}
  const violations: string[] = []
  const outages: { fromMs: number; toMs: number }[] = []
  const startedAt = performance.now()
  const stamp = () => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`
  return {
    counts,
    violations,
    /** The times when a node was down or frozen, or when the database lost its sessions. */
    outages,
    async outage(work: () => Promise<unknown>): Promise<void> {
      const outage = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY }
      outages.push(outage)
      await work()
      outage.toMs = Date.now()
    },
    count(what: string, by = 1) {
      counts[what] = (counts[what] ?? 0) + by
    },
    note(line: string) {
      say(`${stamp()}  ${line}`)
    },
    violation(line: string) {
      violations.push(line)
      say(`${stamp()}  VIOLATION  ${line}`)
    },
  }
}
