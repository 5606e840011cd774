/** A bucket on this machine: the keys that the demo Data Store uses, and a pair that may read. */
export type DemoBucket = {
  endpoint: string
  region: string
  name: string
  directory: string
  accessKeyId: string
  secretAccessKey: string
  reader: { accessKeyId: string; secretAccessKey: string }
}

/** `DATA_DIR/demo.json`: everything that a person or program needs to try Sluice. */
export type DemoDocument = {
  baseUrl: string
  uploadUrl: string
  email: string
  password: string
  accountKey: string
  pipeId: string
  dataStoreId: string
  senderName: string
  senderToken: string
  webhookSecret: string
  metricsToken: string
  bucket: DemoBucket
}

export const demoVaultContext = (workspaceId: string) => `demo:${workspaceId}`
