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

it('says what to check if a response gives no reason, as when the endpoint is not that of an S3 service', () => {
  const { kind, message } = readFault('PutObject', 'media', 404, '<h1>Not Found</h1>', {})
  expect(kind).toBe('refused')
  expect(message).toBe(
    'PutObject on the bucket media got HTTP 404. The response does not say why: check that the endpoint is that of a storage service.',
  )
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
