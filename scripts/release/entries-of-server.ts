type Entry = { dev?: boolean; devOptional?: boolean; optional?: boolean; link?: boolean }

/**
 * Selects the packages that the server needs from the source's lock file: platform-independent ones, which its own
 * package includes, and those that npm selects by platform or may leave out.
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
