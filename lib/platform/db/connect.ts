import postgres from 'postgres'
import type { Address } from './database.ts'

type Options = Exclude<Parameters<typeof postgres>[1], undefined>

export function connect<Given extends Options>(address: Address, options: Given) {
  return typeof address === 'string' ? postgres(address, options) : postgres({ ...address, ...options })
}
