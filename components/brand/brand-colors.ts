import type { CSSProperties } from 'react'

/** The lightest surface of the light mode, and one of the lighter ones of the dark mode. */
const SURFACES = { light: '#ffffff', dark: '#262c2f' }
/** Of anything that is not text (WCAG 2.2, 1.4.11). */
const MIN_CONTRAST = 3
const STEPS = 20

type Mode = keyof typeof SURFACES

/** Replaces the accent color of everything inside, and the color of what has to stand out against the page. */
export function brandStyle(color: string | null): CSSProperties | undefined {
  if (color === null) return undefined
  return {
    '--water': color,
    '--water-strong': `color-mix(in oklab, ${color} 88%, ${textOn(color)})`,
    '--on-water': textOn(color),
    '--focus': `light-dark(${visibleIn('light', color)}, ${visibleIn('dark', color)})`,
  } as CSSProperties
}

/** Black or white, whichever has more contrast. */
export function textOn(color: string): '#000000' | '#ffffff' {
  return contrastOf(color, '#000000') > contrastOf(color, '#ffffff') ? '#000000' : '#ffffff'
}

/** The color itself or, if it would be hard to see in that mode, as much darker or lighter as it must be. */
export function visibleIn(mode: Mode, color: string): string {
  const end = mode === 'light' ? 0 : 255
  const mixed = Array.from({ length: STEPS + 1 }, (_, step) =>
    hexOf(partsOf(color).map((part) => Math.round(part + ((end - part) * step) / STEPS))),
  )
  return mixed.find((one) => contrastOf(one, SURFACES[mode]) >= MIN_CONTRAST)!
}

/** WCAG 2.2, “contrast ratio”. */
export function contrastOf(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

const SHARES = [0.2126, 0.7152, 0.0722]

/** WCAG 2.2, “relative luminance”. */
function luminanceOf(color: string): number {
  const linear = partsOf(color).map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return linear.reduce((sum, value, at) => sum + value * SHARES[at]!, 0)
}

const partsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
const hexOf = (parts: number[]) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
