type Part = keyof HTMLElementTagNameMap

/** Creates an element whose class, for this package's styles, is also its part, for the page's. */
export function create<Name extends Part>(
  name: Name,
  part: string,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  if (part) attributes = { class: `sluice-${part}`, part, ...attributes }
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

export function createIcon(path: string): SVGElement {
  const icon = document.createElementNS(SVG, 'svg')
  const attributes = { class: 'sluice-icon', viewBox: '0 0 16 16', fill: 'none', stroke: 'currentColor' }
  for (const [key, value] of Object.entries(attributes)) icon.setAttribute(key, value)
  icon.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(SVG, 'path')
  line.setAttribute('d', path)
  icon.append(line)
  return icon
}
