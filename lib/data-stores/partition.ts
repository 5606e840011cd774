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
