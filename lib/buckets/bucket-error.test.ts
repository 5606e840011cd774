import { expect, it } from 'vitest'
import { readFault } from './bucket-error.ts'

const fault = (body: string) => readFault('PutObject', 'media', 400, `<Error>${body}</Error>`, {})

it("includes the bucket's code and message", () => {
  expect(fault('<Code>KeyTooLongError</Code><Message>Your key is &quot;long&quot;</Message>')).toMatchObject({
    kind: 'refused',
    code: 'KeyTooLongError',
    message: 'PutObject on the bucket media got 400 KeyTooLongError. Your key is "long"',
  })
  expect(fault('')).toMatchObject({ code: 'HTTP 400' })
})

it('shortens the code and the message, and removes characters that the database rejects', () => {
  const { code, message } = fault(`<Code>\0${'x'.repeat(99)}</Code><Message>${'👾'.repeat(200)}</Message>`)
  expect(code).toBe(` ${'x'.repeat(63)}`)
  expect(message.length).toBeLessThan(400)
  expect(fault(`<Message>a${'👾'.repeat(200)}</Message>`).message.isWellFormed()).toBe(true)
})

it('recognizes an existing object by the error code, or by the status if there is no code', () => {
  const kindOf = (status: number, body: string) =>
    readFault('CompleteMultipartUpload', 'media', status, body, {}).kind
  expect(kindOf(200, '<Error><Code>PreconditionFailed</Code></Error>')).toBe('exists')
  expect(kindOf(412, '')).toBe('exists')
})
