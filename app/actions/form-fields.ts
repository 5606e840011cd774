import { UNIT_BYTES, type Unit } from '#components/format.ts'
import { invalidRequest } from '#lib/platform/kernel/errors.ts'

/** Reads a form tolerantly: trims values and treats empty fields as missing. */
export function textOf(data: FormData, name: string): string | undefined {
  const value = data.get(name)
  if (typeof value !== 'string') return undefined
  return value.trim() === '' ? undefined : value.trim()
}

/** A password exactly as typed, including leading and trailing spaces. */
export function passwordOf(data: FormData, name = 'password'): string {
  return String(data.get(name) ?? '')
}

/** An action's argument as text; callers can send a value of any type. */
export function textArgument(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A dialog asks for a name before an irreversible action; without JavaScript, only this checks it. */
export function assertConfirmed(data: FormData): void {
  const wanted = textOf(data, 'toConfirm')
  if (wanted === textOf(data, 'confirmation')) return
  throw invalidRequest([{ field: 'confirmation', message: `must be ${wanted ?? 'the name'}` }])
}

/** A list whose entries are separated by commas or whitespace. */
export function listOf(data: FormData, name: string): string[] {
  return (textOf(data, name) ?? '').split(/[\s,]+/).filter(Boolean)
}

/** A size from a number field and its unit. The verb's validation rejects NaN. */
export function bytesOf(data: FormData, name: string): number | null {
  const amount = textOf(data, name)
  if (amount === undefined) return null
  const unit = (textOf(data, `${name}Unit`) ?? 'MB') as Unit
  return Math.round(Number(amount) * UNIT_BYTES[unit])
}
