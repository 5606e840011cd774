import { type Command, misused, readArguments, result, say } from '../command.ts'
import { connect } from '../settings.ts'
import { asText, type Fields, writeDocument } from './document.ts'
import { type Found, readWorkspace, type Workspace } from './workspace.ts'

const usage = 'export [--json]'

export const exportCommand: Command = {
  usage,
  about: 'Write the workspace as a configuration file for apply',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, {})
    if (positionals.length > 0) throw misused('This command takes no arguments.', usage)
    const secrets: string[] = []
    const found = await readWorkspace(connect())
    const document = toDocument(found, secrets)
    result(values.json, document, ...writeDocument(document).trimEnd().split('\n'))
    if (secrets.length > 0)
      say(`Secrets are never shown. To recreate these, set ${secrets.join(', ')} for sluice apply.`)
    say(...describeSameNames(found))
  },
}

export function toDocument(found: Workspace, secrets: string[]): object {
  const workspace = asText(found)
  const storeName = new Map(workspace.dataStores.map(({ id, name }) => [id, name]))
  const outputsOf = (outputs: Found[], owner: string) =>
    outputs.map(({ name, fields: { headerNames, ...fields } }) => {
      const variable = (header: string) => secretOf(secrets, owner, name, header)
      const headers = (headerNames as string[]).map((header) => [header, variable(header)])
      return { ...fields, ...(headers.length > 0 && { headers: Object.fromEntries(headers) }) }
    })
  return {
    workspace: workspace.workspace,
    dataStores: workspace.dataStores.map(({ name, fields }) => {
      const { accessKeyId, serviceAccount, sas, federation, assumedRole, ...others } = fields
      const secret = (...words: string[]) => secretOf(secrets, name, ...words)
      if (serviceAccount) return { ...others, serviceAccountKey: secret('service', 'account', 'key') }
      if (federation) return { ...others, federation }
      if (assumedRole) return { ...others, assumedRole }
      if (sas) return { ...others, sasToken: secret('sas', 'token') }
      if (others.provider === 'azure')
        return { ...others, storageAccountKey: secret('storage', 'account', 'key') }
      return { ...others, accessKeyId, secretAccessKey: secret('secret', 'access', 'key') }
    }),
    pipes: workspace.pipes.map(({ name, fields, outputs, hooks }) => {
      const { destinations, ...own } = fields as Fields & { destinations: Destination[] }
      return {
        ...own,
        ...placesOf(destinations, storeName),
        outputs: outputsOf(outputs, name),
        hooks: hooks.map(({ fields }) => fields),
      }
    }),
    senders: workspace.senders.map(({ fields }) => fields),
    outputs: outputsOf(workspace.outputs, 'workspace'),
    // No account key has owner permissions, so apply could not appoint owners.
    people: workspace.people.map(({ fields }) => fields).filter(({ role }) => role !== 'owner'),
    linkPages: workspace.linkPages,
    alerts: workspace.alerts,
  }
}

/** Sluice lets several items have the same name, but a configuration file tells them apart by name. */
function describeSameNames({ dataStores, pipes, senders, outputs }: Workspace): string[] {
  const lists: [what: string, items: Found[]][] = [
    ['Data Stores', dataStores],
    ['Pipes', pipes],
    ['Senders', senders],
    ['outputs', outputs],
    ...pipes.map(({ name, outputs }): [string, Found[]] => [`outputs of the Pipe "${name}"`, outputs]),
  ]
  return lists.flatMap(([what, items]) => {
    const names = items.map(({ name }) => name)
    const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
    return [...repeated].map(
      (name) =>
        `Several ${what} are named "${name}". Rename all but one and export again: sluice apply refuses this file.`,
    )
  })
}

type Destination = { dataStoreId: string; required: boolean }

/** A Pipe's destinations, in the shortest equivalent form. */
function placesOf(destinations: Destination[], storeName: Map<string, string>): object {
  const [first] = destinations
  if (destinations.length === 1) return { dataStore: storeName.get(first!.dataStoreId) }
  return {
    destinations: destinations.map(({ dataStoreId, required }) => ({
      dataStore: storeName.get(dataStoreId),
      ...(!required && { required }),
    })),
  }
}

/** Stands in for a secret, such as `${FILMS_SECRET_ACCESS_KEY}`. */
function secretOf(secrets: string[], ...words: string[]): string {
  const name = words
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(\d)/, '_$1')
  if (!secrets.includes(name)) secrets.push(name)
  return `\${${name}}`
}
