import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { isSluiceError } from './errors.ts'
import { parseInput } from './parse-input.ts'

const schema = z.strictObject({
  name: z.string().min(1, 'must not be empty'),
  size: z.number().optional(),
  role: z.enum(['viewer', 'admin']).optional(),
  kind: z.literal('one').optional(),
})

function fault(value: unknown) {
  try {
    parseInput(schema, value)
  } catch (error) {
    if (isSluiceError(error)) return error
  }
  throw new Error('nothing was thrown')
}

describe('parseInput', () => {
  it.each([
    [{ name: 'a\0' }, 'name'],
    [{ name: '\ud800' }, 'name'],
    [{ name: 'a', 'a\0': 1 }, 'body'],
    ['\0', 'body'],
    [{ list: [{ text: 'b\udc00' }] }, 'list.0.text'],
  ])('rejects a string that the database does not accept: %j', (value, field) => {
    expect(fault(value)).toMatchObject({ code: 'invalid_request', fields: [{ field }] })
  })

  it('checks values nested as deeply as a body allows', () => {
    const deep = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)
    expect(fault(deep)).toMatchObject({ code: 'invalid_request' })
  })

  it('counts entries before examining any of them', () => {
    const examine = vi.fn(() => true)
    const listed = z.strictObject({ list: z.array(z.unknown().refine(examine)) })
    for (const list of [Array(1001).fill(1), Object.fromEntries(Array(1001).entries())])
      expect(() => parseInput(listed, { list })).toThrow('list must have at most 1000 entries.')
    expect(examine).not.toHaveBeenCalled()
    expect(() => parseInput(listed, { list: Array(1000).fill(1) })).not.toThrow()
  })

  it('lists at most 20 faults, and shortens the names in them', () => {
    const names = Array.from({ length: 500 }, (_, at) => `${at} ${'x'.repeat(1000)}`)
    const unknown = fault({ name: 'a', ...Object.fromEntries(names.map((name) => [name, 1])) })
    expect(unknown.fields).toHaveLength(20)
    expect(unknown.message.length).toBeLessThan(20 * 250)
  })

  it('accepts valid input', () => {
    expect(parseInput(schema, { name: 'a' })).toEqual({ name: 'a' })
  })

  it.each([
    [{}, 'name', 'is required'],
    [{ name: 7 }, 'name', 'must be a string'],
    [{ name: '' }, 'name', 'must not be empty'],
    [{ name: 'a', colour: 'red' }, 'colour', 'is not a known field'],
    [[], 'body', 'must be an object'],
    [{ name: 'a', role: 'builder' }, 'role', 'must be one of "viewer", "admin"'],
    [{ name: 'a', kind: 'two' }, 'kind', 'must be "one"'],
  ])('says what is wrong with %j', (value, field, message) => {
    const error = fault(value)
    expect(error).toMatchObject({ code: 'invalid_request', fields: [{ field, message }] })
    expect(error.message).toContain(field)
  })
})
