/** The host and port to which clients of another protocol connect. Undefined if this server does not accept it. */
export function clientAddress(
  { uploadUrl }: { uploadUrl: string },
  port: number | undefined,
): { host: string; port: number } | undefined {
  return port === undefined ? undefined : { host: new URL(uploadUrl).hostname, port }
}
