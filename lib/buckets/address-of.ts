import { isIP } from 'node:net'

type Addressed = { endpoint: string; bucket: string; forcePathStyle: boolean }

/** A wildcard certificate covers one label, and host names have neither capitals nor underscores. */
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Virtual-host addressing puts the bucket's name before the host, path style at the start of the path. A name that is not
 * one DNS label always goes into the path, and so does every name if the host is an IP address.
 */
export function addressOf({ endpoint, bucket, forcePathStyle }: Addressed) {
  const base = new URL(endpoint)
  const prefix = base.pathname.replace(/\/+$/, '')
  const inPath = forcePathStyle || !DNS_LABEL.test(bucket) || isIP(unbracketed(base.hostname)) !== 0
  if (inPath) return { base, host: base.host, prefix: `${prefix}/${bucket}`, inPath }
  base.hostname = `${bucket}.${base.hostname}`
  return { base, host: base.host, prefix, inPath }
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
