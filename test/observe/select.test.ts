import { describe, expect, it } from 'vitest';
import { selectAdapter, UnsupportedPlatformError } from '../../actors/observe/select.ts';
import { installationIdSchema } from '../../machines/ids.ts';

const options = { installationId: installationIdSchema.parse('Itest') };

describe('the platform', () => {
  it('ID-05: Linux has an adapter', () => {
    expect(selectAdapter('linux', options).platform).toBe('linux');
  });

  it.each(['darwin', 'win32', 'freebsd', 'android', ''])('ID-05: %s is refused with what is missing', (platform) => {
    const refused = () => selectAdapter(platform, options);
    expect(refused).toThrow(UnsupportedPlatformError);
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'unsupported_platform',
        exitCode: 8,
        platform,
        missing: expect.arrayContaining([expect.any(String)]),
        next: [expect.stringContaining('Linux')],
      }),
    );
  });
});
