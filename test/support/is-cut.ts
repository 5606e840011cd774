import type { Locator } from 'playwright/test'

/** Whether a table's cell hides a part of this element. */
export const isCut = (shown: Locator): Promise<boolean> =>
  shown.evaluate((element) => {
    const cell = element.closest('td')!
    const boxes = [cell, ...cell.querySelectorAll('*')].filter((box) => box.contains(element))
    return boxes.some(
      (box) =>
        box.clientWidth > 0 && (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 1),
    )
  })
