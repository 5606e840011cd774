type Store = { id: string; name: string; bucket: string; check: { ok: boolean } | null }
export type StoreOption = { id: string; label: string; works: boolean }

/** Data Stores to choose from. Two with the same name are told apart by their buckets. */
export function storeOptions(stores: readonly Store[], rejecting: readonly { id: string }[]): StoreOption[] {
  const refuses = new Set(rejecting.map(({ id }) => id))
  return stores.map(({ id, name, bucket, check }) => {
    const works = check?.ok !== false && !refuses.has(id)
    const isShared = stores.some((other) => other.id !== id && other.name === name)
    const label = isShared ? `${name} (${bucket})` : name
    return { id, label: works ? label : `${label}, does not accept uploads`, works }
  })
}

export const firstWorking = (options: readonly StoreOption[]) => options.find(({ works }) => works)?.id
