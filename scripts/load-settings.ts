import { existsSync } from 'node:fs'
import { type Config, loadConfig } from '../lib/platform/settings/config.ts'

/** The settings of `npm start`, for a separate command. */
export function loadSettings(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return loadConfig()
}
