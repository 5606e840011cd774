/** Waits so long and no longer; the work itself goes on. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | 'late'> {
  work.catch(() => {})
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(resolve, ms, 'late')
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
