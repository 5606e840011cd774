import { expect, it, vi } from 'vitest'
import { createBadNetwork } from './bad-network.ts'

/** A request with only the parts that the network uses. Its response arrives as soon as it is sent. */
function quickRequest() {
  const seen: string[] = []
  const request = Object.assign(new EventTarget(), {
    send() {
      for (const type of ['load', 'loadend']) request.dispatchEvent(new Event(type))
    },
    abort() {},
  })
  for (const type of ['load', 'error']) request.addEventListener(type, () => seen.push(type))
  return { request: request as unknown as XMLHttpRequest, seen }
}

it('a cut between two requests breaks only the next one, however soon its response would arrive', async () => {
  vi.stubGlobal('ProgressEvent', Event)
  let cuts = 0
  const network = createBadNetwork(() => {
    cuts += 1
  })
  const [next, other] = [quickRequest(), quickRequest()]
  expect([network.cut(), cuts]).toEqual([false, 0])
  for (const { request } of [next, other]) {
    network.send(request)
    request.send()
  }
  await Promise.resolve()
  vi.unstubAllGlobals()
  expect([next.seen, other.seen, cuts]).toEqual([['error'], ['load'], 1])
})
