/** A connection on which the supervisor and one of its processes can ask each other questions. */
export type Line = {
  /** Returns undefined if the other side is gone, or silent for too long. */
  ask(question: string, patienceMs?: number): Promise<unknown>
}
type Answers = Record<string, () => Promise<unknown>>

/** The channel is `process` on one side, and a worker of `node:cluster` on the other. */
type Channel = {
  on(event: 'message', listener: (message: Message) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
  send?(message: Message, sent: () => void): unknown
}
type Message = { question: string; id: number } | { answer: unknown; id: number }

const PATIENCE_MS = 2000

export function openLine(channel: Channel, answers: Answers): Line {
  const waiting = new Map<number, (answer: unknown) => void>()
  let asked = 0
  // If the other side is gone, `disconnect` reports that.
  const send = (message: Message) => void channel.send!(message, () => {})
  channel.on('message', async (message) => {
    if ('answer' in message) waiting.get(message.id)?.(message.answer)
    else if ('question' in message) {
      const answer = await answers[message.question]?.().catch(() => null)
      send({ answer, id: message.id })
    }
  })
  channel.once('disconnect', () => {
    for (const resolve of waiting.values()) resolve(undefined)
  })
  return {
    async ask(question, patienceMs = PATIENCE_MS) {
      const id = asked++
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const timer = setTimeout(resolve, patienceMs, undefined)
      waiting.set(id, resolve)
      send({ question, id })
      return promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(id)
      })
    },
  }
}
