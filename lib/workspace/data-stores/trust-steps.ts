import { accountOf } from '../../buckets/azure/authorize-azure.ts'
import { AWS_AUDIENCE, AZURE_AUDIENCE } from '../../buckets/temporary/federation.ts'
import type { GivenFederation } from './credentials-fields.ts'
import type { DataStore } from './data-store.ts'
import { leastPolicy } from './policy.ts'
import { partitionOf } from './resolve-place.ts'

export type TrustStep = { title: string; code: string }
type Place = Parameters<typeof leastPolicy>[0] &
  Pick<DataStore, 'identity' | 'assumedRole'> & { endpoint: string; federation: GivenFederation | null }

/**
 * What to paste on the other side, so that a cloud trusts this server's statements about one Data Store: commands, and
 * the same for Terraform. Empty if the provider has no federation, or has its own way.
 */
export function trustSteps(place: Place): TrustStep[] {
  if (place.assumedRole) return trustInServer(place.assumedRole, place)
  const steps = { aws: trustInAws, azure: trustInAzure, gcs: trustInGoogle }[place.provider as 'aws']
  return steps?.(place) ?? []
}

const json = (value: object): string => JSON.stringify(value, null, 2)
const indent = (text: string): string => text.replaceAll('\n', '\n  ')
/** For a shell, which would end the text at an apostrophe, as a prefix may contain one. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The name and the path of a role, which together are the end of its ARN. */
function splitRole(arn: string | undefined): { name: string; path: string } {
  const whole = arn?.split(':role/')[1] ?? 'sluice'
  const name = whole.split('/').at(-1)!
  return { name, path: `/${whole.slice(0, -name.length)}` }
}

function createRole({ name, path }: { name: string; path: string }, trust: object, policy: string): string {
  const option = path === '/' ? '' : ` --path ${path}`
  return `aws iam create-role --role-name ${name}${option} --assume-role-policy-document ${quoted(json(trust))}
aws iam put-role-policy --role-name ${name} --policy-name uploads --policy-document ${quoted(policy)}`
}

function trustInAws(place: Place): TrustStep[] {
  const { identity, region, federation } = place
  const [, account = '<account>'] = /::(\d*):role\//.exec(federation?.role ?? '') ?? []
  const role = splitRole(federation?.role)
  const host = new URL(identity.issuer).host
  const provider = `arn:${partitionOf(region).name}:iam::${account}:oidc-provider/${host}`
  const trustOf = (Federated: string) => ({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Federated },
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: { [`${host}:aud`]: AWS_AUDIENCE, [`${host}:sub`]: identity.subject },
        },
      },
    ],
  })
  const policy = leastPolicy(place)
  return [
    {
      title: 'AWS CLI',
      code: `aws iam create-open-id-connect-provider --url ${identity.issuer} --client-id-list ${AWS_AUDIENCE}
${createRole(role, trustOf(provider), policy)}`,
    },
    {
      title: 'Terraform',
      code: `resource "aws_iam_openid_connect_provider" "sluice" {
  url            = "${identity.issuer}"
  client_id_list = ["${AWS_AUDIENCE}"]
}

resource "aws_iam_role" "sluice" {
  name               = "${role.name}"
  path               = "${role.path}"
  assume_role_policy = <<-JSON
  ${indent(json(trustOf(`\${aws_iam_openid_connect_provider.sluice.arn}`)))}
  JSON
}

resource "aws_iam_role_policy" "uploads" {
  role   = aws_iam_role.sluice.id
  policy = <<-JSON
  ${indent(policy.replace(/[$%](?=\{)/g, '$&$&'))}
  JSON
}`,
    },
  ]
}

/** For a role that trusts this server's own identity, which only its operator knows. */
function trustInServer(role: string, place: Place): TrustStep[] {
  const trust = {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { AWS: '<ARN of the role or user of this server>' },
        Action: 'sts:AssumeRole',
        Condition: { StringEquals: { 'sts:ExternalId': place.identity.subject } },
      },
    ],
  }
  return [
    {
      title: 'AWS CLI',
      code: createRole(splitRole(role), trust, leastPolicy(place)),
    },
  ]
}

/** The smallest set with which blocks can be sent. The conditions of Sluice's requests keep blobs from being replaced. */
const AZURE_ACTION = 'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write'
const AZURE_ROLE = 'Sluice uploads'

function trustInAzure({ identity, federation, endpoint, bucket }: Place): TrustStep[] {
  const { issuer, subject } = identity
  const app = federation?.clientId ?? '<client id>'
  const credential = { name: 'sluice', issuer, subject, audiences: [AZURE_AUDIENCE] }
  const role = {
    Name: AZURE_ROLE,
    AssignableScopes: ['/subscriptions/<subscription>'],
    DataActions: [AZURE_ACTION],
  }
  const scope = `/subscriptions/<subscription>/resourceGroups/<group>/providers/Microsoft.Storage/storageAccounts/${accountOf(endpoint)}/blobServices/default/containers/${bucket}`
  return [
    {
      title: 'Azure CLI',
      code: `az ad app create --display-name sluice --query appId --output tsv   # prints the client id
az ad sp create --id ${app}
az ad app federated-credential create --id ${app} --parameters '${json(credential)}'
az role definition create --role-definition '${json(role)}'
az role assignment create --assignee ${app} --role "${AZURE_ROLE}" \\
  --scope ${scope}`,
    },
    {
      title: 'Terraform',
      code: `resource "azuread_application" "sluice" {
  display_name = "sluice"
}

resource "azuread_service_principal" "sluice" {
  client_id = azuread_application.sluice.client_id
}

resource "azuread_application_federated_identity_credential" "sluice" {
  application_id = azuread_application.sluice.id
  display_name   = "sluice"
  issuer         = "${issuer}"
  subject        = "${subject}"
  audiences      = ["${AZURE_AUDIENCE}"]
}

resource "azurerm_role_definition" "sluice" {
  name  = "${AZURE_ROLE}"
  scope = "/subscriptions/<subscription>"
  permissions {
    data_actions = ["${AZURE_ACTION}"]
  }
}

resource "azurerm_role_assignment" "sluice" {
  principal_id       = azuread_service_principal.sluice.object_id
  role_definition_id = azurerm_role_definition.sluice.role_definition_resource_id
  scope              = "${scope}"
}`,
    },
  ]
}

function trustInGoogle({ identity, federation, bucket }: Place): TrustStep[] {
  const { issuer, subject } = identity
  const names = /^projects\/(\d+)\/.*Pools\/([^/]+)\/providers\/(.+)$/.exec(
    federation?.identityProvider ?? '',
  )
  const [, project = '<project number>', pool = 'sluice', provider = 'sluice'] = names ?? []
  const principalIn = (poolName: string) => `principal://iam.googleapis.com/${poolName}/subject/${subject}`
  const principal = principalIn(`projects/${project}/locations/global/workloadIdentityPools/${pool}`)
  // Refers to the pool, so that Terraform creates it first: Google refuses principals of a pool that does not exist.
  const planned = principalIn(`\${google_iam_workload_identity_pool.sluice.name}`)
  const account = federation?.serviceAccount
  const memberOr = (principal: string) => (account ? `serviceAccount:${account}` : principal)
  const condition = `assertion.sub.startsWith('${subject.replace(/data-store:.*/, '')}')`
  const impersonation = account
    ? `\ngcloud iam service-accounts add-iam-policy-binding ${account} \\
  --role=roles/iam.workloadIdentityUser --member=${principal}`
    : ''
  return [
    {
      title: 'gcloud',
      code: `gcloud iam workload-identity-pools create ${pool} --location=global
gcloud iam workload-identity-pools providers create-oidc ${provider} --location=global \\
  --workload-identity-pool=${pool} --issuer-uri=${issuer} \\
  --attribute-mapping=google.subject=assertion.sub --attribute-condition="${condition}"
gcloud storage buckets add-iam-policy-binding gs://${bucket} --role=roles/storage.objectCreator \\
  --member=${memberOr(principal)}${impersonation}`,
    },
    {
      title: 'Terraform',
      code: `resource "google_iam_workload_identity_pool" "sluice" {
  workload_identity_pool_id = "${pool}"
}

resource "google_iam_workload_identity_pool_provider" "sluice" {
  workload_identity_pool_id          = google_iam_workload_identity_pool.sluice.workload_identity_pool_id
  workload_identity_pool_provider_id = "${provider}"
  attribute_mapping                  = { "google.subject" = "assertion.sub" }
  attribute_condition                = "${condition}"
  oidc {
    issuer_uri = "${issuer}"
  }
}

resource "google_storage_bucket_iam_member" "sluice" {
  bucket = "${bucket}"
  role   = "roles/storage.objectCreator"
  member = "${memberOr(planned)}"
}${
        account
          ? `

resource "google_service_account_iam_member" "sluice" {
  service_account_id = "projects/-/serviceAccounts/${account}"
  role               = "roles/iam.workloadIdentityUser"
  member             = "${planned}"
}`
          : ''
      }`,
    },
  ]
}
