/* SPDX-License-Identifier: MIT */
/* Reads a component's settings by its table: every name known, every value within its bounds. */
#include <qossim/engine.h>

#include <string.h>

double qs_ratio_double(qs_ratio r)
{
    return (double)r.whole + (r.per ? (double)r.part / (double)r.per : 0.0);
}

static bool is_array(const qs_param *param)
{
    return strcmp(param->unit, "array") == 0;
}

static bool is_choice(const qs_param *param)
{
    return strchr(param->unit, '|') != NULL;
}

/* The index of `word` among the words of `choices`, which have bars between them; -1 if it is none of them. */
static int choice_index(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = choices; at; index++) {
        const char *bar = strchr(at, '|');
        const size_t width = bar ? (size_t)(bar - at) : strlen(at);
        if (width == length && memcmp(at, word, width) == 0)
            return index;
        at = bar ? bar + 1 : NULL;
    }
    return -1;
}

static qs_status read_choice(qs_value *value, const qs_param *param, const qs_setting *setting, const char *owner,
                             qs_error *why)
{
    const int index = setting->word ? choice_index(param->unit, setting->word) : -1;
    if (index < 0)
        return qs_error_set(why, QS_EINVAL, "%s: %s must be one of %s, got %s", owner, param->name, param->unit,
                            setting->word ? setting->word : "a number");
    value->value = QS_INT((uint64_t)index);
    return QS_OK;
}

static qs_status read_array(qs_value *value, const qs_param *param, const qs_setting *setting, const char *owner,
                            qs_error *why)
{
    if (!setting->array)
        return qs_error_set(why, QS_EINVAL, "%s: %s must be an array", owner, param->name);
    value->array = setting->array;
    value->count = setting->count;
    return QS_OK;
}

static qs_status read_number(qs_value *value, const qs_param *param, const qs_setting *setting, const char *owner,
                             qs_error *why)
{
    if (setting->word || setting->array)
        return qs_error_set(why, QS_EINVAL, "%s: %s must be a number", owner, param->name);
    if (setting->value.part >= setting->value.per || setting->value.per >> 63)
        return qs_error_set(why, QS_EINVAL, "%s: %s is not a ratio: part must be below per, and per below 2^63", owner,
                            param->name);
    const double number = qs_ratio_double(setting->value);
    if (!(number >= param->min && number <= param->max))
        return qs_error_set(why, QS_EINVAL, "%s: %s must be %.16g to %.16g%s%s, got %.16g", owner, param->name,
                            param->min, param->max, *param->unit ? " " : "", param->unit, number);
    if (setting->value.part && !param->fraction)
        return qs_error_set(why, QS_EINVAL, "%s: %s must be a whole number%s%s, got %.16g", owner, param->name,
                            *param->unit ? " of " : "", param->unit, number);
    value->value = setting->value;
    return QS_OK;
}

static qs_status read_setting(qs_value *value, const qs_param *param, const qs_setting *setting, const char *owner,
                              qs_error *why)
{
    if (value->given)
        return qs_error_set(why, QS_EINVAL, "%s: %s is given twice", owner, param->name);
    value->given = true;
    if (is_array(param))
        return read_array(value, param, setting, owner, why);
    if (is_choice(param))
        return read_choice(value, param, setting, owner, why);
    return read_number(value, param, setting, owner, why);
}

static qs_status fill_default(qs_value *value, const qs_param *param, const char *owner, qs_error *why)
{
    if (value->given || isnan(param->fallback))
        return QS_OK;
    if (isinf(param->fallback))
        return qs_error_set(why, QS_EINVAL, "%s: %s is missing (%s)", owner, param->name, param->meaning);
    value->given = true;
    value->value = QS_INT((uint64_t)param->fallback);
    return QS_OK;
}

static const qs_param *find_param(const qs_param *params, const char *name, size_t *row)
{
    for (*row = 0; params && params[*row].name; ++*row)
        if (strcmp(params[*row].name, name) == 0)
            return &params[*row];
    return NULL;
}

qs_status qs_params_read(const qs_param *params, const qs_spec *spec, qs_value values[QS_PARAMS_MAX], const char *owner,
                         qs_error *why)
{
    memset(values, 0, QS_PARAMS_MAX * sizeof *values);
    for (size_t i = 0; i < spec->count; i++) {
        size_t row;
        const qs_param *param = find_param(params, spec->settings[i].name, &row);
        if (!param)
            return qs_error_set(why, QS_EINVAL, "%s: %s has no parameter %s", owner, spec->kind,
                                spec->settings[i].name);
        const qs_status status = read_setting(&values[row], param, &spec->settings[i], owner, why);
        if (status)
            return status;
    }
    for (size_t row = 0; params && params[row].name; row++) {
        const qs_status status = fill_default(&values[row], &params[row], owner, why);
        if (status)
            return status;
    }
    return QS_OK;
}
