import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { leastPolicy, lifecycleRules } from './policy.ts'

/** IAM's policy grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html */
const PARTITION = '(aws|aws-cn|aws-us-gov|aws-eusc)'
const objectArn = z.string().regex(new RegExp(`^arn:${PARTITION}:s3:::[a-z0-9.-]+/.*\\*$`))
/** One key or all keys. Aliases are only valid as resources of actions on aliases. */
const keyArn = z
  .string()
  .regex(new RegExp(`^arn:${PARTITION}:kms:[a-z0-9-]+:(\\d{12}|\\*):key/([\\w-]+|\\*)$`))
const statement = <Action extends string>(actions: [Action, ...Action[]], resource: z.ZodString) =>
  z.strictObject({
    Sid: z
      .string()
      .regex(/^[A-Za-z0-9]*$/)
      .optional(),
    Effect: z.enum(['Allow', 'Deny']),
    Action: z.array(z.enum(actions)).min(1),
    Resource: z.array(resource).min(1),
    Condition: z
      .strictObject({
        'ForAnyValue:StringEquals': z.strictObject({
          'kms:ResourceAliases': z.array(z.string().regex(/^alias\/[\w/-]+$/)).min(1),
        }),
      })
      .optional(),
  })
const identityPolicy = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z
    .array(
      z.union([
        statement(['s3:PutObject', 's3:PutObjectTagging'], objectArn),
        statement(['kms:GenerateDataKey', 'kms:Decrypt'], keyArn),
      ]),
    )
    .min(1),
})
/** For Scaleway: https://www.scaleway.com/en/docs/object-storage/api-cli/bucket-policy/ */
const scalewayPolicy = z.strictObject({
  Version: z.literal('2023-04-17'),
  Id: z.string(),
  Statement: z.array(
    z.strictObject({
      Sid: z.string(),
      Effect: z.enum(['Allow', 'Deny']),
      Principal: z.strictObject({ SCW: z.string().regex(/^(user_id|application_id):/) }),
      Action: z.array(z.literal('s3:PutObject')),
      Resource: z.array(z.string().regex(/^[a-z0-9.-]+\/.*\*$/)),
    }),
  ),
})
/** Alibaba's RAM: https://www.alibabacloud.com/help/en/ram/user-guide/policy-structure-and-syntax */
const alibabaPolicy = z.strictObject({
  Version: z.literal('1'),
  Statement: z.array(
    z.strictObject({
      Effect: z.enum(['Allow', 'Deny']),
      Action: z.array(z.literal('oss:PutObject')),
      Resource: z.array(z.string().regex(/^acs:oss:\*:\*:[a-z0-9-]+\/.*\*$/)),
    }),
  ),
})

type Asked = {
  region?: string
  keyId?: string
  prefix?: string
  uses?: Parameters<typeof leastPolicy>[0]['uses']
}
const policyFor = (
  provider: ProviderName,
  { region = 'eu-central-1', keyId, prefix = 'in/', uses = [] }: Asked = {},
) =>
  leastPolicy({
    provider,
    region,
    bucket: 'media',
    prefix,
    encryption: keyId ? { type: 'SSE-KMS', keyId } : null,
    uses,
  })
const ID = '1234abcd-12ab-34cd-56ef-1234567890ab'

describe('the minimal policy', () => {
  it.each([
    ['eu-central-1', 'aws'],
    ['cn-north-1', 'aws-cn'],
    ['us-gov-west-1', 'aws-us-gov'],
    ['eusc-de-east-1', 'aws-eusc'],
  ])('for AWS in %s uses the partition %s', (region, partition) => {
    const policy = identityPolicy.parse(JSON.parse(policyFor('aws', { region, keyId: ID })))
    expect(policy.Statement.flatMap(({ Resource }) => Resource)).toEqual([
      `arn:${partition}:s3:::media/in/*`,
      `arn:${partition}:kms:${region}:*:key/${ID}`,
    ])
  })

  it.each([
    [ID, `arn:aws:kms:eu-central-1:*:key/${ID}`, undefined],
    [
      `mrk-${ID.replaceAll('-', '')}`,
      `arn:aws:kms:eu-central-1:*:key/mrk-${ID.replaceAll('-', '')}`,
      undefined,
    ],
    [
      `arn:aws:kms:us-east-1:111122223333:key/${ID}`,
      `arn:aws:kms:us-east-1:111122223333:key/${ID}`,
      undefined,
    ],
    ['alias/uploads', 'arn:aws:kms:eu-central-1:*:key/*', 'alias/uploads'],
    [
      'arn:aws:kms:us-east-1:111122223333:alias/in/x',
      'arn:aws:kms:us-east-1:111122223333:key/*',
      'alias/in/x',
    ],
  ])('names the key %s as a resource, or its alias in a condition', (keyId, resource, alias) => {
    const { Statement } = identityPolicy.parse(JSON.parse(policyFor('aws', { keyId })))
    expect(Statement[1]!.Resource).toEqual([resource])
    const condition = alias && { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': [alias] } }
    expect(Statement[1]!.Condition).toEqual(condition)
  })

  it('includes the permissions that the object settings of its Pipes need', () => {
    const object = { tags: { a: 'b' }, encryption: { type: 'SSE-KMS' as const, keyId: ID } }
    const uses = [
      { name: 'one', object },
      { name: 'two', object },
    ]
    const { Statement } = identityPolicy.parse(JSON.parse(policyFor('aws', { uses })))
    expect(Statement.map(({ Action }) => Action)).toEqual([
      ['s3:PutObject', 's3:PutObjectTagging'],
      ['kms:GenerateDataKey', 'kms:Decrypt'],
    ])
  })

  it('escapes special characters in a prefix', () => {
    const { Statement } = identityPolicy.parse(JSON.parse(policyFor('aws', { prefix: 'a*b?$c/' })))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: IAM uses this syntax.
    expect(Statement[0]!.Resource).toEqual(['arn:aws:s3:::media/a${*}b${?}${$}c/*'])
  })

  it.each(['wasabi', 'minio', 'ovh', 'other'] as const)('for %s is an IAM policy', (provider) => {
    const { Statement } = identityPolicy.parse(JSON.parse(policyFor(provider, { keyId: 'a-key' })))
    expect(Statement).toHaveLength(1)
  })

  it('uses the policy languages of Scaleway and Alibaba', () => {
    expect(scalewayPolicy.parse(JSON.parse(policyFor('scaleway'))).Statement[0]!.Resource).toEqual([
      'media/in/*',
    ])
    expect(alibabaPolicy.parse(JSON.parse(policyFor('alibaba'))).Statement[0]!.Resource).toEqual([
      'acs:oss:*:*:media/in/*',
    ])
  })

  it.each(['r2', 'b2', 'spaces', 'gcs', 'azure', 'hetzner', 'oracle'] as const)(
    'for %s is described in words',
    (provider) => {
      expect(policyFor(provider)).toContain('media')
      expect(policyFor(provider)).not.toMatch(/^\{/)
    },
  )
})

it('suggests lifecycle rules for leftovers that the keys cannot delete', () => {
  const rules = (mayAbort: boolean, mayDelete: boolean) => {
    const text = lifecycleRules({ provider: 'aws', bucket: 'media', prefix: 'in/' }, { mayAbort, mayDelete })
    return text && JSON.parse(text).Rules.map(({ Filter }: { Filter: { Prefix: string } }) => Filter.Prefix)
  }
  expect(rules(true, true)).toBeUndefined()
  expect(rules(false, false)).toEqual(['in/', 'in/.sluice-checks/'])
  expect(rules(false, true)).toEqual(['in/'])
})
