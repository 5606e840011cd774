import { defineConfig } from 'playwright/test'
import { findChromium } from './test/support/chromium.ts'

/** The browser tests, which run Chromium against one built server with the embedded defaults. */
export default defineConfig({
  testDir: 'e2e/browser',
  globalSetup: './test/support/browser-setup.ts',
  outputDir: 'test-results',
  // Long timeouts, since the system tests run at the same time.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  fullyParallel: true,
  workers: 2,
  retries: 0,
  use: {
    launchOptions: await findChromium(),
    viewport: { width: 1280, height: 900 },
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    // Disables transitions, since colors are undefined during a transition between color modes.
    contextOptions: { reducedMotion: 'reduce' },
  },
})
