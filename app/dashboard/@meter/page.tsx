import { currentActor } from '#app/session.ts'
import { QuotaMeter } from '../shell/quota-meter.tsx'

/** Part of each page, because a layout keeps what it shows when another page opens in it. */
export default async function Meter() {
  return <QuotaMeter actor={await currentActor('see')} />
}
