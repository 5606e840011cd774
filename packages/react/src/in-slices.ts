/** How many files are taken in at a time: some milliseconds of work on a slow machine. */
const AT_ONCE = 50

/**
 * Does the work of a long list in slices, each after the last has ended, and lets the page respond in between. The first is
 * begun at once.
 */
export async function inSlices<Item>(
  items: readonly Item[],
  act: (some: readonly Item[]) => unknown,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    if (at > 0) await nextTask()
    await act(items.slice(at, at + AT_ONCE))
  }
}

/** Not by a timer: those of a hidden page are slowed down to one in a second. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
