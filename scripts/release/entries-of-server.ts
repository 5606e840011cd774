type Entry = { dev?: boolean; devOptional?: boolean; optional?: boolean; link?: boolean }

/**
 * Of the lock of the source, what the server runs on: the packages that are the same everywhere, which its own package brings
 * along, and those that npm chooses by platform or may leave out.
 */
export function entriesOfServer<Given extends Entry>(packages: Record<string, Given>) {
  const installed = Object.entries(packages).filter(
    ([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link,
  )
  const [optional, bundled] = [true, false].map((wanted) =>
    Object.fromEntries(installed.filter(([, entry]) => Boolean(entry.optional) === wanted)),
  ) as [Record<string, Given>, Record<string, Given>]
  return { bundled, optional }
}
