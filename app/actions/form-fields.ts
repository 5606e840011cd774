import { invalidRequest } from '#lib/platform/kernel/errors.ts'

/** Reads a form tolerantly: trims values and treats empty fields as missing. */
export function textOf(data: FormData, name: string): string | undefined {
  const value = data.get(name)
  if (typeof value !== 'string') return undefined
  return value.trim() === '' ? undefined : value.trim()
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

const UNIT_BYTES = { MB: 1e6, GB: 1e9, TB: 1e12 } as const
export type Unit = keyof typeof UNIT_BYTES

/** A size from a number field and its unit. The verb's validation rejects NaN. */
export function bytesOf(data: FormData, name: string): number | null {
  const amount = textOf(data, name)
  if (amount === undefined) return null
  const unit = (textOf(data, `${name}Unit`) ?? 'MB') as Unit
  return Math.round(Number(amount) * UNIT_BYTES[unit])
}

/** The largest unit in which the size is a whole number; MB if there is none. */
export function inUnit(bytes: number): { amount: number; unit: Unit } {
  const unit = bytes % UNIT_BYTES.TB === 0 ? 'TB' : bytes % UNIT_BYTES.GB === 0 ? 'GB' : 'MB'
  return { amount: bytes / UNIT_BYTES[unit], unit }
}
