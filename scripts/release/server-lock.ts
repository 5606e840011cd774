/**
 * The part of the source's lock that the server installs, so that npm installs exactly what the tests ran on. Without
 * `engines`: npm would warn an older Node of each package, though it only launches the Node that is among them.
 */
type Entry = { dev?: boolean; devOptional?: boolean; link?: boolean; engines?: object }
type Lock = { lockfileVersion: number; packages: Record<string, Entry> }
type Manifest = { name: string; version: string }

export function lockOfServer(
  { lockfileVersion, packages }: Lock,
  manifest: Manifest & Record<string, unknown>,
) {
  const { name, version } = manifest
  const installed = Object.entries(packages)
    .filter(([path, { dev, devOptional, link }]) => isPackage(path) && !dev && !devOptional && !link)
    .map(([path, { engines: _, ...entry }]) => [path, entry])
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: { '': manifest, ...Object.fromEntries(installed) },
  }
}

function isPackage(path: string): boolean {
  return path.startsWith('node_modules/')
}
