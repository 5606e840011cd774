const realNow = performance.now.bind(performance)
let aheadMs = 0

/** Lets time pass for everything that measures it with `performance.now()`, such as leases. */
export function elapse(ms: number): void {
  aheadMs += ms
  performance.now = () => realNow() + aheadMs
}
