import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { credentialsFields } from './credentials-fields.ts'
import { whyUnreachable } from './federation.ts'
import { trustSteps } from './trust-steps.ts'

it.each([
  ['https://sluice.example.com', undefined],
  ['http://sluice.example.com', 'does not start with https'],
  ['https://sluice.example.com:8443', 'has a port'],
  ['http://localhost:3000', 'not on the public internet'],
  ['https://10.1.2.3', 'not on the public internet'],
  ['https://[fd00::1]', 'not on the public internet'],
  ['https://sluice', 'not on the public internet'],
  ['https://sluice.internal', 'not on the public internet'],
])('tells whether clouds can read the keys at %s', (baseUrl, why) => {
  expect(whyUnreachable(baseUrl)).toEqual(why && expect.stringContaining(why))
})

it.each([
  ['arn:aws-us-gov:iam::123456789012:role/teams/sluice', true],
  ['arn:minio:iam:::role/oxnUw3DAuQF1uggjXGxI2AmW8IA', true],
  ['arn:minio:iam:eu-west-3::role/oxnUw3DAuQF1uggjXGxI2AmW8IA', true],
  ['arn:aws:iam::123456789012:user/sluice', false],
])('accepts %s as a role: %s', (role, isRole) => {
  expect(credentialsFields.federation.safeParse({ role }).success).toBe(isRole)
})

const issuer = 'https://sluice.example.com'
const subject = 'workspace:1:data-store:2'
const place = {
  bucket: 'media',
  prefix: "a$b's %{c}/",
  region: 'eu-central-1',
  encryption: null,
  uses: [],
  assumedRole: null,
  identity: { issuer, subject },
}

/** The arguments of each aws command, as a shell passes them on. */
function argumentsOf(commands: string): string[][] {
  const print = `aws() { for one; do printf '%s\\0' "$one"; done; printf '\\n\\0'; }\n`
  const printed = execFileSync('sh', ['-c', print + commands], { encoding: 'utf8' })
  return printed.split('\0\n\0').map((all) => all.split('\0'))
}

it('shows a trust policy for one Data Store, as a command and for Terraform', () => {
  const role = 'arn:aws:iam::123456789012:role/teams/media/sluice'
  const steps = trustSteps({
    ...place,
    provider: 'aws',
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    federation: { role },
  })
  const [, create = [], put = []] = argumentsOf(steps[0]!.code)
  expect(create).toEqual(expect.arrayContaining(['--role-name', 'sluice', '--path', '/teams/media/']))
  expect(steps[1]!.code).toMatch(/^ +path += "\/teams\/media\/"$/m)
  const [trust, policy] = [create, put].map((all) => JSON.parse(all.at(-1)!))
  expect(trust.Statement).toMatchObject([
    {
      Principal: { Federated: 'arn:aws:iam::123456789012:oidc-provider/sluice.example.com' },
      Condition: {
        StringEquals: {
          'sluice.example.com:aud': 'sts.amazonaws.com',
          'sluice.example.com:sub': subject,
        },
      },
    },
  ])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: IAM's notation for a dollar sign.
  expect(policy.Statement[0].Resource).toEqual(["arn:aws:s3:::media/a${$}b's %{c}/*"])
  expect(steps[1]!.code).toContain("media/a$${$}b's %%{c}/*")
})

it.each([
  [
    'azure',
    'https://acme.blob.core.windows.net',
    null,
    ['<client id>', 'storageAccounts/acme/', '/containers/media'],
  ],
  ['gcs', 'https://storage.googleapis.com', null, []],
] as const)('names issuer and subject for %s', (provider, endpoint, federation, parts) => {
  for (const { code } of trustSteps({ ...place, provider, endpoint, federation }))
    for (const part of [issuer, subject, ...parts.slice(provider === 'azure' ? 1 : 0)])
      expect(code).toContain(part)
})

it('grants roles in Google Cloud to a principal of the pool, which Terraform creates first', () => {
  const federation = {
    identityProvider: 'projects/12/locations/global/workloadIdentityPools/media/providers/sluice',
    serviceAccount: 'sluice@acme.iam.gserviceaccount.com',
  }
  const endpoint = 'https://storage.googleapis.com'
  const [gcloud, terraform] = trustSteps({ ...place, provider: 'gcs', endpoint, federation })
  expect(gcloud!.code).toContain(
    `projects/12/locations/global/workloadIdentityPools/media/subject/${subject}`,
  )
  expect(terraform!.code).toContain(`\${google_iam_workload_identity_pool.sluice.name}/subject/${subject}`)
})
