import { Wordmark } from './mark.tsx'

export type Brand = { name: string | null; logoUrl: string | null }

/** Whose page an upload link is: the workspace's name and logo, or Sluice. */
export function LinkBrand({ name, logoUrl }: Brand) {
  if (name === null && logoUrl === null) return <Wordmark />
  return (
    <span className="flex min-w-0 items-center gap-2.5 font-semibold text-[1.0625rem] tracking-[-0.01em]">
      {logoUrl !== null && (
        // The background is for logos that are drawn for paper.
        <img
          src={logoUrl}
          alt={name === null ? 'Logo' : ''}
          className="h-9 max-w-40 shrink-0 rounded-md bg-white object-contain p-0.5"
        />
      )}
      {name !== null && <bdi className="truncate">{name}</bdi>}
    </span>
  )
}
