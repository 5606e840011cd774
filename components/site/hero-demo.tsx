import { HeroTrace } from './hero-trace.tsx'

export function HeroDemo() {
  return <HeroTrace />
}
