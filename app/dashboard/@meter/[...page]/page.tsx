import { currentActor } from '#app/session.ts'
import { QuotaMeter } from '../../shell/quota-meter.tsx'

export default async function Meter() {
  return <QuotaMeter actor={await currentActor('see')} />
}
