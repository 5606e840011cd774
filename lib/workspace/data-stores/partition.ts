/** AWS is several clouds that share nothing but their language: each has its own ARNs and its own hosts. */
export type Partition = { name: string; suffix: string }

const PARTITIONS: readonly [prefix: string, Partition][] = [
  ['cn-', { name: 'aws-cn', suffix: 'amazonaws.com.cn' }],
  ['us-gov-', { name: 'aws-us-gov', suffix: 'amazonaws.com' }],
  ['eusc-', { name: 'aws-eusc', suffix: 'amazonaws.eu' }],
]

export function partitionOf(region: string): Partition {
  const found = PARTITIONS.find(([prefix]) => region.startsWith(prefix))
  return found?.[1] ?? { name: 'aws', suffix: 'amazonaws.com' }
}

const HOST =
  /^s3(?:-fips)?(?:\.dualstack)?[.-]([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})\.amazonaws\.(?:com|com\.cn|eu)$/

/** The region that a host of S3 names: plain, dual-stack, FIPS or old. The global and accelerated ones name none. */
export function regionOfHost(hostname: string): string | undefined {
  return HOST.exec(hostname)?.[1]
}
