'use client'

import { clsx } from 'clsx'
import type { FormPreset } from './provider-presets.ts'

type Provider = FormPreset['provider']
type Props = { presets: FormPreset[]; value: Provider; onChange: (provider: Provider) => void }

export function ProviderPicker({ presets, value, onChange }: Props) {
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-sm">Provider</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {presets.map(({ provider, label }) => (
          <label
            key={provider}
            className={clsx(
              'flex cursor-pointer items-center gap-2.5 rounded-md border px-3 py-2 text-sm max-sm:gap-2 max-sm:px-2.5 has-focus-visible:outline-2 has-focus-visible:outline-water',
              provider === value
                ? 'border-water bg-water-soft font-medium'
                : 'border-line-strong bg-raised hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name="provider"
              value={provider}
              checked={provider === value}
              onChange={() => onChange(provider)}
              className="size-3.5 shrink-0 accent-(--water)"
            />
            <span className="min-w-0 leading-tight">{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
