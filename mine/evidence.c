/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/evidence.h"

#include <math.h>

static double paid(double p)
{
    double log_p = log(p);
    if (log_p > -1e-4) /* where both sides of the fraction vanish: its limit */
        return 0.5 - log_p / 6;
    return (1 - p + p * log_p) / (p * log_p * log_p);
}

void sf_evidence_stake(sf_evidence *evidence, double pays)
{
    double n = ++evidence->tests;
    double staked = (evidence->staked + 1 / (n * (n + 1))) * pays;
    evidence->staked = fmin(staked, SF_EVIDENCE_MOST);
}

double sf_evidence_chance(uint32_t surrogates)
{
    double n = surrogates + 1.0, sum = 0;
    for (double k = 1; k <= n; k++)
        sum += paid(k / n);
    return sum / n;
}

void sf_evidence_add(sf_evidence *evidence, double p, double chance)
{
    sf_evidence_stake(evidence, paid(p) / chance);
}

double sf_evidence_of(const sf_evidence *evidence)
{
    return evidence->staked + 1 / ((double)evidence->tests + 1);
}
